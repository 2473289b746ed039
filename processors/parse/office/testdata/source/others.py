"""Files of programs other than LibreOffice: pip install python-docx openpyxl python-pptx ebooklib msoffcrypto-tool"""
import datetime, io
import docx, openpyxl, pptx, msoffcrypto
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml.ns import qn
from docx.oxml import OxmlElement
from ebooklib import epub

when = datetime.datetime(2024, 2, 1, 10, 20, 30)

d = docx.Document()
d.core_properties.title, d.core_properties.author, d.core_properties.keywords = "Made by python-docx", "Cy", "a, b"
d.core_properties.created = d.core_properties.modified = when
d.add_heading("First heading", 1)
p = d.add_paragraph("A paragraph with a ")
link = OxmlElement("w:hyperlink")
link.set(qn("r:id"), d.part.relate_to("https://example.com/docx", RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
run, text = OxmlElement("w:r"), OxmlElement("w:t")
text.text = "link"
run.append(text), link.append(run), p._p.append(link)
p.add_run(" in it.")
d.add_heading("Second heading", 2)
table = d.add_table(1, 2)
table.cell(0, 0).text, table.cell(0, 1).text = "left", "right"
d.save("../python.docx")

w = openpyxl.Workbook()
w.properties.title, w.properties.creator, w.properties.created, w.properties.modified = "Made by openpyxl", "Cy", when, when
s = w.active
s.title = "One"
s.append(["text", 1.5, True, datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 13, 30)])
s["A2"] = "link"
s["A2"].hyperlink = "https://example.com/xlsx"
w.create_sheet("Two").append(["second sheet", 0.25])
w.save("../python.xlsx")

t = pptx.Presentation()
t.core_properties.title, t.core_properties.author = "Made by python-pptx", "Cy"
t.core_properties.created = t.core_properties.modified = when
slide = t.slides.add_slide(t.slide_layouts[1])
slide.shapes.title.text = "A title"
run = slide.placeholders[1].text_frame.paragraphs[0].add_run()
run.text, run.hyperlink.address = "a link", "https://example.com/pptx"
slide.notes_slide.notes_text_frame.text = "notes are for the speaker"
t.slides.add_slide(t.slide_layouts[0]).shapes.title.text = "Second slide"
t.save("../python.pptx")

b = epub.EpubBook()
b.set_identifier("id"), b.set_title("Made by ebooklib"), b.set_language("de"), b.add_author("Cy"), b.add_author("Di")
b.add_metadata("DC", "date", "2024-02-01")
chapters = []
for n, body in enumerate(["<h1>Erstes</h1><p>Mit <a href='https://example.com/epub'>Verweis</a> und <a href='c1.xhtml'>innerem</a>.</p>", "<h1>Zweites</h1><p>Größe.</p>"]):
    c = epub.EpubHtml(title=f"c{n}", file_name=f"c{n}.xhtml", lang="de")
    c.content = body
    b.add_item(c), chapters.append(c)
b.spine = chapters
b.add_item(epub.EpubNcx())
epub.write_epub("../python.epub", b)

with open("../report.docx", "rb") as plain, open("../encrypted.docx", "wb") as out:
    msoffcrypto.OfficeFile(plain).encrypt("secret", out)
