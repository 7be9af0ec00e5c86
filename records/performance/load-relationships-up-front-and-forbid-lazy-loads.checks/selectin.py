from sqlalchemy import ForeignKey, create_engine, event, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, raiseload, relationship, selectinload


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)
    lines: Mapped[list["Line"]] = relationship()


class Line(Base):
    __tablename__ = "line"
    id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[int] = mapped_column(ForeignKey("orders.id"))


engine = create_engine("sqlite://")
Base.metadata.create_all(engine)
with Session(engine) as session:
    session.add_all(Order(lines=[Line(), Line()]) for _ in range(10))
    session.commit()

statements = []
event.listen(engine, "before_cursor_execute", lambda *a: statements.append(a[2]))

with Session(engine) as session:
    orders = session.scalars(select(Order).options(selectinload(Order.lines), raiseload("*"))).all()
    assert sum(len(order.lines) for order in orders) == 20
assert len(statements) == 2, f"{len(statements)} statements"
